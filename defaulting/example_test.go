package defaulting_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/defaulting"
)

type spec struct {
	Image    string `json:"image,omitempty"`
	Replicas int    `json:"replicas,omitempty"`
}

func ExampleDifference() {
	stored := spec{Replicas: 2}
	effective := stored
	defaulting.Effective(&effective, func(s *spec) {
		if s.Image == "" {
			s.Image = "example.com/server:1"
		}
	})
	difference, err := defaulting.Difference(stored, effective)
	fmt.Println(difference, err)
	// Output: {"image":"example.com/server:1"} <nil>
}
