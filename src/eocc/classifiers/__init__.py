"""The one-class classifiers behind scikit-learn's interface."""
