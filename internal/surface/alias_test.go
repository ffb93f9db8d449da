package surface_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/internal/surface"
)

// TestShown shows what an alias stands for, instead of what was shown of it before, and leaves everything else as it is.
func TestShown(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("shop/internal/room/room.go", `package room

// Order is asked for.
type Order struct {
	// Items are what is asked for.
	Items []Item
	secret string
}

// Total is the sum.
//
// It is never negative.
func (o Order) Total() int { return o.total() }

func (o Order) total() int { return 0 }

// Item is one thing.
type Item string
`)
	write("shop/internal/desk/desk.go", `package desk

import "example.com/m/shop/internal/room"

type Desk struct{ Order room.Order }
`)
	file := write("shop/shop.go", `package shop

import (
	"time"

	"example.com/m/shop/internal/desk"
	"example.com/m/shop/internal/room"
)

type (
	// Order is what a customer wants.
	Order = room.Order
	// Desk takes orders.
	//
	//	type Desk struct {
	//		Gone bool
	//	}
	Desk = desk.Desk
	// Duration is not ours.
	Duration = time.Duration
)
`)
	want := `package shop

import (
	"time"

	"example.com/m/shop/internal/desk"
	"example.com/m/shop/internal/room"
)

type (
	// Order is what a customer wants.
	//
	//	type Order struct {
	//		// Items are what is asked for.
	//		Items []Item
	//		// contains filtered or unexported fields
	//	}
	//
	//	// Total is the sum.
	//	//
	//	// It is never negative.
	//	func (o Order) Total() int
	Order = room.Order
	// Desk takes orders.
	//
	//	type Desk struct{ Order Order }
	Desk = desk.Desk
	// Duration is not ours.
	Duration = time.Duration
)
`
	for range 2 { // what is shown is shown once
		got, err := surface.Shown(root, "example.com/m", file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		write("shop/shop.go", string(got))
	}
	broken := write("shop/broken.go", "package shop\n\nimport \"example.com/m/shop/internal/room\"\n\n// Lost is not there.\ntype Lost = room.Lost\n")
	if _, err := surface.Shown(root, "example.com/m", broken); err == nil {
		t.Error("want an error for a type that is not declared")
	}
}
