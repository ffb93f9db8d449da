package v1alpha1

//go:generate go tool controller-gen object paths=.
//go:generate go tool controller-gen crd:maxDescLen=0 paths=. output:crd:dir=../../../config/crd
