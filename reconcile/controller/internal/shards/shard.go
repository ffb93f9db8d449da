package shards

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Shard is the part of the owners that a process reconciles, so that several processes share them. Every process has the name of its
// shard. Processes of one shard elect a leader with a lease of that shard.
type Shard struct {
	// Name is the name of this process's shard. Required.
	Name string
	// Count is the number of shards, 64 at most, named from "0". A hash of the UID assigns an owner to a shard. It is the hash of the
	// API server, and a shard is a set of its ranges. An additional shard takes an equal part of each of the others; no owner moves between
	// existing shards. A Name that is not below Count names a removed shard: its process reconciles no owner.
	Count int
	// Label is the key of the label that names the shard of an owner. Owners without it are in no shard. Either Count or Label is required.
	Label string
}

// Has returns a function that reports whether an owner is in the shard.
func (s *Shard) Has() func(owner client.Object) bool {
	if s.Label != "" {
		return func(owner client.Object) bool { return owner.GetLabels()[s.Label] == s.Name }
	}
	division := Divide(s.Count)
	return func(owner client.Object) bool { return strconv.Itoa(division.Of(owner.GetUID())) == s.Name }
}

// SelectionOf returns the selection for the informer of the owners. It selects all owners for a removed shard, and for a shard that does
// not pass Check.
func SelectionOf(s *Shard) Selection {
	switch {
	case s == nil || Check(s, "", false) != nil || Retired(s):
		return Selection{}
	case s.Label != "":
		return ByLabel(s.Label, s.Name)
	}
	number, _ := strconv.Atoi(s.Name) // Check has validated it
	return Divide(s.Count).Select(number)
}

// Retired reports whether the shard was removed, so that its process reconciles no owner.
func Retired(s *Shard) bool {
	number, err := strconv.Atoi(s.Name)
	return s.Count > 0 && err == nil && number >= s.Count
}

// Check returns an error if the shard of a controller is invalid.
func Check(s *Shard, controller string, group bool) error {
	if s == nil {
		return nil
	}
	var wrong []string
	if s.Name == "" {
		wrong = append(wrong, ".Name is empty, want the name of the shard of this process")
	}
	if err := s.checkOf(); err != "" {
		wrong = append(wrong, err)
	}
	if group {
		wrong = append(wrong, ": groups are not objects that a shard can select")
	}
	errs := make([]error, len(wrong))
	for i, text := range wrong {
		errs[i] = fmt.Errorf("controller %q: Options.Shard%s", controller, text)
	}
	return errors.Join(errs...)
}

// checkOf returns the error in how owners are assigned to shards, empty if there is none.
func (s *Shard) checkOf() string {
	switch number, err := strconv.Atoi(s.Name); {
	case (s.Count != 0) == (s.Label != "") || s.Count < 0 || s.Count > MaxCount:
		return fmt.Sprintf(" wants either a Label or a Count of 1 to %d, got a Label of %q and a Count of %d", MaxCount, s.Label, s.Count)
	case s.Label != "":
		if invalid := append(validation.IsQualifiedName(s.Label), validation.IsValidLabelValue(s.Name)...); len(invalid) > 0 {
			return fmt.Sprintf(" wants a Label with the value of Name, got %q with %q: %s", s.Label, s.Name, strings.Join(invalid, ", "))
		}
	case s.Count > 0 && s.Name != "" && (err != nil || number < 0 || number >= MaxCount || strconv.Itoa(number) != s.Name):
		return fmt.Sprintf(".Name is %q, want a number from 0 to %d, as the Count is %d, or up to %d for a removed shard",
			s.Name, s.Count-1, s.Count, MaxCount-1)
	}
	return ""
}
