package shards

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Asks returns what an informer asks for, and what a list of the others does.
func (s Selection) Asks() (mine, others metav1.ListOptions) {
	s.mine(&mine)
	s.others(&others)
	return mine, others
}
