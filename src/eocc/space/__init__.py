"""Training patterns -> prototypes, weightings and the dissimilarity space."""
