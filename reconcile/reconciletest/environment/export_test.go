package environment

// ParseAuditEvent turns a line of an audit log into an entry.
func ParseAuditEvent(line []byte) (AuditEntry, error) {
	event, err := parseAuditEvent(line)
	if err != nil {
		return AuditEntry{}, err
	}
	return event.entry(), nil
}

// NewAuditLog reads an audit log from a file.
func NewAuditLog(path string) *AuditLog { return &AuditLog{path: path} }

// NamespacePrefix is the beginning of the name of the namespace of a test.
func NamespacePrefix(test string) string { return namespacePrefix(test) }
