// Package story has what the runs of a system without faults have shown: what each of them did and how it ended, and the objects that
// others can disturb. A case is such a story once more, with something going wrong.
package story
