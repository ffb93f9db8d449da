// Package matchers provides Gomega matchers for the conditions of Kubernetes objects. The rest of the test kit does not use Gomega.
package matchers
