package declaration

// ImportPath cuts the package out of the name of a function.
func ImportPath(function string) string { return importPath(function) }

// MaxNamespaces bounds what Observed keeps.
const MaxNamespaces = maxNamespaces

// Size is the number of namespaces that are kept.
func (o *Observed) Size() int { return len(o.versions) }
