package v1alpha1

//go:generate go tool controller-gen object paths=.
