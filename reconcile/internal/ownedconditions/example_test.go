package ownedconditions_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/ownedconditions"
)

// Conditions that another controller has set are not ours.
func ExampleTypes() {
	fields := []metav1.ManagedFieldsEntry{
		{Manager: "us", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}`)},
		{Manager: "them", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"Billed\"}":{}}}}`)},
	}
	owned := ownedconditions.Types(fields, "us")
	fmt.Println(owned("Ready"), owned("Billed"))
	// Output: true false
}
