package v1

//go:generate go tool controller-gen object paths=.;../v1alpha1;../foreign;../kueue
//go:generate go tool controller-gen crd:maxDescLen=200 paths=.;../v1alpha1 output:crd:dir=../../config/crd
