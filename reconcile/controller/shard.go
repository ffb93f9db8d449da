package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ShardAnnotationPrefix and the name of the controller are the annotation of an owner that names the shard which works on it.
const ShardAnnotationPrefix = "shard.reconcilekit.dev/"

// Shard is the part of the owners that a process works on, so that several processes share them. Every process runs with the name of its
// shard; where several run for one shard, they elect a leader with a lease of that shard.
//
// A process claims an owner with the annotation [ShardAnnotationPrefix] before its first pass, and gives it back when the owner has come
// to another shard and no pass of it runs any more; that one waits until then. So no two work on one owner, also while labels or the number of shards
// change. What a shard has claimed stays claimed while no process runs for it: start one, or remove the annotation when there will be none.
//
// Each process watches all owners. Children are planned by one owner: those that several plan, contributions, and groups are
// for one process.
type Shard struct {
	// Name is that of the shard of this process. Required.
	Name string
	// Count is the number of shards, named "0" to the last, into which owners come by a hash of their UID. Another count moves as few owners as
	// it can. Zero is no hash but Of.
	Count int
	// Of returns the name of the shard that an owner is in, empty for none: [ShardByLabel], or a function of the owner's metadata that gives the same
	// in all processes. Required without a Count.
	Of func(owner client.Object) string
}

// ShardByLabel returns the shard that a label of the owner names. Owners without it are in no shard.
func ShardByLabel(key string) func(client.Object) string {
	return func(owner client.Object) string { return owner.GetLabels()[key] }
}

// of is the shard of an owner.
func (s *Shard) of(owner client.Object) string {
	if s.Of != nil {
		return s.Of(owner)
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(owner.GetUID())) // never fails
	return strconv.Itoa(bucket(hash.Sum64(), s.Count))
}

// bucket is the jump consistent hash of Lamping and Veach: a key changes its bucket only when the added one becomes its own.
func bucket(key uint64, count int) int {
	const multiplier, shift, scale = 2862933555777941757, 33, float64(1 << 31)
	last, next := int64(0), int64(0)
	for next < int64(count) {
		last = next
		key = key*multiplier + 1
		next = int64(float64(last+1) * (scale / float64((key>>shift)+1)))
	}
	return int(last)
}

// check reports what is wrong with the shard of a controller.
func (s *Shard) check(controller string, group bool) error {
	if s == nil {
		return nil
	}
	var errs []error
	if s.Name == "" {
		errs = append(errs, fmt.Errorf("controller %q: Options.Shard.Name is empty, want the name of the shard of this process", controller))
	}
	if s.Count < 0 || (s.Count == 0) == (s.Of == nil) {
		errs = append(errs, fmt.Errorf("controller %q: Options.Shard wants either Of or a Count of at least 1, got a Count of %d", controller, s.Count))
	} else if at, err := strconv.Atoi(s.Name); s.Of == nil && s.Name != "" && (err != nil || at < 0 || at >= s.Count || strconv.Itoa(at) != s.Name) {
		errs = append(errs, fmt.Errorf("controller %q: Options.Shard.Name is %q, want a number from 0 to %d, as the Count is %d", controller, s.Name, s.Count-1, s.Count))
	}
	if group {
		errs = append(errs, fmt.Errorf("controller %q: Options.Shard: groups have no object to claim", controller))
	}
	if wrong := validation.IsQualifiedName(ShardAnnotationPrefix + controller); len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("controller %q: Options.Shard: the name is no part of an annotation: %s", controller, strings.Join(wrong, ", ")))
	}
	return errors.Join(errs...)
}

// shardReader reads owners. One that this process must not work on is not found, so that the pipeline forgets what it knows of it. It is
// asked at the beginning of each pass, and there is one pass of an owner at a time, so an owner that is given back has none.
type shardReader struct {
	client.Reader
	*Shard

	writer     client.Writer
	kind       schema.GroupVersionKind
	annotation string
	manager    string
	claimed    sync.Map // names of owners to their UID, once the API server has confirmed the claim to this process
}

// Get reads an owner of the shard, and claims it.
func (r *shardReader) Get(ctx context.Context, key client.ObjectKey, owner client.Object, opts ...client.GetOption) error {
	if err := r.Reader.Get(ctx, key, owner, opts...); err != nil {
		r.claimed.Delete(key)
		return err
	}
	mine, holder := r.of(owner) == r.Name, owner.GetAnnotations()[r.annotation]
	confirmed, _ := r.claimed.Load(key)
	switch {
	case mine && holder == r.Name && confirmed == owner.GetUID():
		return nil
	case mine && (holder == r.Name || holder == ""):
		if err := r.patch(ctx, owner, r.Name); err != nil {
			return fmt.Errorf("claim it for shard %q: %w", r.Name, err)
		}
		r.claimed.Store(key, owner.GetUID())
		return nil
	case holder == r.Name:
		r.claimed.Delete(key)
		if err := r.patch(ctx, owner, nil); err != nil {
			return fmt.Errorf("give it back, for shard %q: %w", r.of(owner), err)
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: r.kind.Group, Resource: r.kind.Kind}, key.Name)
}

// patch writes the annotation, if the owner is as the cache shows it. Nil removes it.
func (r *shardReader) patch(ctx context.Context, owner client.Object, holder any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": owner.GetUID(), "resourceVersion": owner.GetResourceVersion(), "annotations": map[string]any{r.annotation: holder},
	}})
	if err != nil {
		return err
	}
	into := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: owner.GetName()}}
	into.SetGroupVersionKind(r.kind) // what is read from the cache is shared
	return r.writer.Patch(ctx, into, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(r.manager))
}
