package pathtemplate

import "sync"

// Limits of a [Cache]. Templates come from users, so their number and size are not bounded otherwise.
const (
	maxCached      = 1024
	maxCachedBytes = 256 * 1024 // of text; compiled, it takes up to about 50 times that
)

// Cache caches compiled templates. Pass the same pointer in the [Options] of every call. The zero value is ready to use, is safe for
// concurrent use, and holds at most 1024 templates and 256 KiB of their text. Errors are not cached.
type Cache struct {
	mu       sync.RWMutex
	compiled map[cacheKey]*compiledPath
	bytes    int // of the texts of the templates
}

type cacheKey struct {
	template string
	encoded  bool
}

// compile returns the compiled template, from the cache if possible.
func (c *Cache) compile(template string, encoded bool) (*compiledPath, error) {
	if c == nil {
		return compilePath(template, encoded)
	}
	key := cacheKey{template: template, encoded: encoded}
	c.mu.RLock()
	compiled := c.compiled[key]
	c.mu.RUnlock()
	if compiled != nil {
		return compiled, nil
	}
	compiled, err := compilePath(template, encoded)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || len(c.compiled) >= maxCached || c.bytes+len(template) > maxCachedBytes {
		// Clearing is simpler than an eviction order, and compiling takes microseconds.
		c.compiled, c.bytes = make(map[cacheKey]*compiledPath), 0
	}
	if c.compiled[key] == nil {
		c.bytes += len(template)
	}
	c.compiled[key] = compiled
	return compiled, nil
}
