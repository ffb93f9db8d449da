package intent

// DropEmptyMetadata leaves out empty labels and annotations: the server has no
// such thing, and takes each apply of one for a change.
func DropEmptyMetadata(intent map[string]any) {
	metadata, ok := intent["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"labels", "annotations"} {
		if m, ok := metadata[name].(map[string]any); ok && len(m) == 0 {
			delete(metadata, name)
		}
	}
	if len(metadata) == 0 {
		delete(intent, "metadata")
	}
}
