package declaration

// ImportPath returns the package in the name of a function.
func ImportPath(function string) string { return importPath(function) }

// MaxNamespaces is the maximum number of namespaces in Observed.
const MaxNamespaces = maxNamespaces

// Size returns the number of recorded namespaces.
func (o *Observed) Size() int { return len(o.versions) }
