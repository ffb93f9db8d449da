// Package naming derives names for Kubernetes objects. The names are readable, within the length limit, and different for different
// inputs.
//
//	name, err := naming.Derive([]string{owner.Name, "cache"}, naming.HashInputs(owner.Namespace))
//	// "web" in "team-a" gives web-cache-02027acc9c11: at most 63 characters, the same in every version of this package
//
// # When to use which
//
//	the name of an object, from user input         Derive; with ForKind for a CronJob, a StatefulSet or a Service
//	one text as a name                             DNSLabel, DNSSubdomain
//	the value of a label                           LabelValue; Derive with LabelValueForm where it selects objects
//	labels of an owner that its children carry     MatchingLabels
//	a name from a container image                  ParseImage, then Derive
//	whether content has changed                    Hash
//
// # When a name gets a hash
//
// Names are derived from user input, and two inputs must not give the same object. A name gets a hash if another input could have the
// same readable text:
//
//   - A single part that is valid and fits stays as it is: "web" is "web".
//   - All other names get a hash of the unmodified parts: several parts, because ["a", "b-c"] and ["a-b", "c"] read the same; a sanitised
//     part, because "a.b" and "a-b" would read the same; a truncated part; and a part that ends like a hash, because it could equal a
//     derived name.
//   - Hash inputs always add a hash. They distinguish equal parts that identify different objects, such as one name in two namespaces.
//
// The hash is a prefix of a SHA-256 over a length-prefixed encoding of the parts and inputs. Different lists have different encodings, so
// only a hash collision can make two names equal. With the default of 12 characters, the probability is one in five hundred among a
// million names with the same readable text. All names must use the same [HashLength].
//
// HashLength(0) disables hashes, for parts that are known to be short, valid and unambiguous.
//
// # Length
//
// The limit is [MaxLength], the limit of the kind ([ForKind]) or that of the form, less the reservation for suffixes ([Reserve]). Text
// that is too long loses characters from its longest part first:
//
//	["a-rather-long-service-name", "cache"] in 30   a-rather-lo-cache-4bcc4bc0bac6
//
// # Valid and invalid input
//
// Parts and texts may be empty, of any length, or invalid UTF-8; the result is valid in any case ("part" replaces a part without letters
// and digits). Hash inputs are values for encoding/json with valid UTF-8 text. These are errors: no parts; a limit below 1 or above that
// of the form; a hash above 64 characters, or one that leaves less than one character and a dash; a reservation that leaves less than
// that; image references outside the grammar of github.com/distribution/reference.
//
// # Stability
//
// Names are stored in clusters: changing a derived name orphans the object. Lines may be added to testdata/names.jsonl, but no line may
// change.
//
// The package keeps no state.
package naming
