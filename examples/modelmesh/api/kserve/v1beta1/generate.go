package v1beta1

//go:generate go tool controller-gen object paths=.
