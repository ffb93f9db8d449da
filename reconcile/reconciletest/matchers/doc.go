// Package matchers has Gomega matchers for the conditions of Kubernetes objects. The rest of the test kit needs no Gomega.
package matchers
