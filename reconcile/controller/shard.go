package controller

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// shardAnnotationPrefix and the name of the controller are the annotation of an owner that names the shard which works on it.
const shardAnnotationPrefix = "shard.reconcilekit.dev/"

// Shard is the part of the owners that a process works on, so that several processes share them. Every process runs with the name of its
// shard; where several run for one shard, they elect a leader with a lease of that shard.
//
// A process claims an owner with the annotation shard.reconcilekit.dev/<controller> before its first pass, and gives it back when the owner has come
// to another shard and no pass of it runs any more; that one waits until then. So no two work on one owner, also while labels or the number of shards
// change. What a shard has claimed stays claimed while no process runs for it: start one, or remove the annotation when there will be none.
//
// With a Count or a Label, and a cache that [CacheOptions] describes, a process watches the owners of its shard alone. A Count needs an API server with
// sharded lists and watches for that (KEP-5866, alpha in 1.36 behind the feature gate ShardedListAndWatch); of one without, each process watches
// all owners and does the same. FetchRemoteState reads no other owners then, unless Reads declares their kind, which makes each process watch all of them.
// Claims of owners that a process does not watch, it looks for at the API server: as it starts, soon after, and every ten minutes.
//
// Each process watches all children. They are planned by one owner: those that several plan, contributions, and groups are
// for one process.
type Shard struct {
	// Name is that of the shard of this process. Required.
	Name string
	// Count is the number of shards, 64 at most, named "0" to the last, into which owners come by a hash of their UID. It is that of the
	// API server, and a shard is ranges of it. One shard more takes an equal part of each of the others; no owner moves between those that were there.
	Count int
	// Label is the key of the label that names the shard of an owner. Owners without it are in no shard.
	Label string
	// Of returns the name of the shard that an owner is in, empty for none: a function of the owner's metadata that gives the same
	// in all processes. Each process watches all owners. One of Count, Label and Of is required.
	Of func(owner client.Object) string
}

// shardPart is a Shard that has been checked.
type shardPart struct {
	name string
	of   func(owner client.Object) string
	// moves says that an owner may come to another shard while the process runs, and not only by another Count.
	moves bool
}

// part returns what the shard means.
func (s *Shard) part() shardPart {
	switch {
	case s.Of != nil:
		return shardPart{s.Name, s.Of, true}
	case s.Label != "":
		return shardPart{s.Name, func(owner client.Object) string { return owner.GetLabels()[s.Label] }, true}
	}
	division := shards.Divide(s.Count)
	return shardPart{s.Name, func(owner client.Object) string { return strconv.Itoa(division.Of(owner.GetUID())) }, false}
}

// selection is what the informer of the owners asks for: all for a function, and for a shard that does not pass check.
func (s *Shard) selection() shards.Selection {
	switch {
	case s == nil || s.check("", false) != nil || s.Of != nil:
		return shards.Selection{}
	case s.Label != "":
		return shards.ByLabel(s.Label, s.Name)
	}
	number, _ := strconv.Atoi(s.Name) // check has seen it
	return shards.Divide(s.Count).Select(number)
}

// check reports what is wrong with the shard of a controller.
func (s *Shard) check(controller string, group bool) error {
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
		wrong = append(wrong, ": groups have no object to claim")
	}
	if invalid := validation.IsQualifiedName(shardAnnotationPrefix + controller); controller != "" && len(invalid) > 0 {
		wrong = append(wrong, ": the name is no part of an annotation: "+strings.Join(invalid, ", "))
	}
	errs := make([]error, len(wrong))
	for i, text := range wrong {
		errs[i] = fmt.Errorf("controller %q: Options.Shard%s", controller, text)
	}
	return errors.Join(errs...)
}

// checkOf is what is wrong with how owners come into shards, empty when nothing is.
func (s *Shard) checkOf() string {
	ways := 0
	for _, given := range []bool{s.Count != 0, s.Label != "", s.Of != nil} {
		if given {
			ways++
		}
	}
	switch number, err := strconv.Atoi(s.Name); {
	case ways != 1 || s.Count < 0 || s.Count > shards.MaxCount:
		return fmt.Sprintf(" wants one of Of, a Label, and a Count of 1 to %d, got a Label of %q and a Count of %d", shards.MaxCount, s.Label, s.Count)
	case s.Label != "":
		if invalid := append(validation.IsQualifiedName(s.Label), validation.IsValidLabelValue(s.Name)...); len(invalid) > 0 {
			return fmt.Sprintf(" wants a Label with the value of Name, got %q with %q: %s", s.Label, s.Name, strings.Join(invalid, ", "))
		}
	case s.Count > 0 && s.Name != "" && (err != nil || number < 0 || number >= s.Count || strconv.Itoa(number) != s.Name):
		return fmt.Sprintf(".Name is %q, want a number from 0 to %d, as the Count is %d", s.Name, s.Count-1, s.Count)
	}
	return ""
}
