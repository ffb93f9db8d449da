// Package naming makes names for Kubernetes objects: readable where there is room, never too long, and never the same for two
// different things.
//
//	name, err := naming.Derive([]string{owner.Name, "cache"}, naming.HashInputs(owner.Namespace))
//	// "web" in "team-a" gives web-cache-02027acc9c11: at most 63 characters, the same in every version of this package
//
// # When to use which
//
//	a name of an object, from what users write     Derive; with ForKind for a CronJob, a StatefulSet or a Service
//	a text that is a name by itself                DNSLabel, DNSSubdomain
//	the value of a label                           LabelValue; Derive with LabelValueForm where it selects objects
//	labels of an owner that its children carry     MatchingLabels
//	a name from a container image                  ParseImage, then Derive
//	whether content has changed                    Hash
//
// # When a name gets a hash
//
// Names are derived from what users write, and two users must not get one object. So the rule is about what could be the same:
//
//   - A single part that is valid and fits stays as it is: "web" is "web".
//   - Anything else gets a hash of the parts as they were given: several parts, because ["a", "b-c"] and ["a-b", "c"] read the same; a part
//     that was sanitised, because "a.b" and "a-b" would read the same; a part that was cut; and a part that ends like a hash itself, because
//     a user may have chosen it to hit a derived name.
//   - Hash inputs always bring a hash. They are for twins: equal parts that stand for different things, such as one name in two namespaces.
//
// The hash is the start of a SHA-256 over an encoding in which every part and input has its length in front, so different lists have
// different encodings, and only a collision of hashes can make two names equal: for the 12 characters of default a chance of one in five
// hundred among a million names that read the same. The promise is among names made with the same [HashLength].
//
// HashLength(0) turns hashes off: for parts that are known to be short, valid and unambiguous.
//
// # What fits
//
// A limit is [MaxLength], that of the kind ([ForKind]) or the form's own, less what others append ([Reserve]). Text that is too long loses characters from
// its longest part first, so that each part keeps what it can:
//
//	["a-rather-long-service-name", "cache"] in 30   a-rather-lo-cache-4bcc4bc0bac6
//
// # Valid and invalid input
//
// Parts and texts may be anything, also empty, of any length, or not UTF-8: the result is valid all the same ("part" stands for a part in which
// no letter or digit is left). Hash inputs are values for encoding/json with valid UTF-8 text. Not accepted, each with an error that says
// what would be right: no parts; a limit below 1 or above what the form allows; a hash above 64 characters, or with no room for a dash and one
// character before it; a reservation that leaves less than that; image references outside the grammar of
// github.com/distribution/reference.
//
// # Stability
//
// Names are stored in clusters: changing a derived name orphans the object. testdata/names.jsonl holds names for good; it may grow,
// but no line of it may change.
//
// The package imports the image reference library and the standard library, and keeps no state.
package naming
