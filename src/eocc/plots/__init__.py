"""Pictures of a fitted classifier."""
