package shards

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Options returns the options that an informer lists with.
func (s Selection) Options() (options metav1.ListOptions) {
	s.mine(&options)
	return options
}
