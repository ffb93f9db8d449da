package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Sessions caches connections by a key, such as a namespace, and the fingerprint of their settings. A connection is opened on its first
// use, replaced when the fingerprint changes, and closed when it is no longer in use. The zero value is empty; it is safe for concurrent
// use.
//
// As a runnable of a manager it closes all connections when the manager stops or loses its leadership.
type Sessions[C io.Closer] struct {
	mu     sync.Mutex
	open   map[string]*session[C]
	closed bool
}

type session[C io.Closer] struct {
	fingerprint string
	ready       chan struct{} // closed when the connection is open, or failed to open
	conn        C
	err         error
	users       int
	retired     bool // its last user closes it
}

var errSessionsClosed = errors.New("the sessions are closed")

// Use returns the connection of the key. If there is none with the fingerprint, Use opens one, once for all concurrent callers; a
// connection with another fingerprint is closed when the last user is done. done must be called once. A connection that failed to open is
// not cached.
func (s *Sessions[C]) Use(key, fingerprint string, open func() (C, error)) (conn C, done func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return conn, nil, fmt.Errorf("open the session %q: %w", key, errSessionsClosed)
	}
	found := s.open[key]
	if found == nil || found.fingerprint != fingerprint {
		idle := s.retire(key)
		found = &session[C]{fingerprint: fingerprint, ready: make(chan struct{}), users: 1}
		if s.open == nil {
			s.open = map[string]*session[C]{}
		}
		s.open[key] = found
		s.mu.Unlock()
		_ = idle() // the settings are replaced: errors of the old connection do not matter
		found.conn, found.err = open()
		close(found.ready)
	} else {
		found.users++
		s.mu.Unlock()
		<-found.ready
	}
	if found.err != nil {
		s.forget(key, found)
		return conn, nil, fmt.Errorf("open the session %q: %w", key, found.err)
	}
	var once sync.Once
	return found.conn, func() { once.Do(func() { _ = s.leave(found) }) }, nil
}

// forget removes a session that failed to open.
func (s *Sessions[C]) forget(key string, failed *session[C]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] == failed {
		delete(s.open, key)
	}
}

// leave ends one use.
func (s *Sessions[C]) leave(used *session[C]) error {
	s.mu.Lock()
	used.users--
	last := used.retired && used.users == 0
	s.mu.Unlock()
	if last {
		return used.conn.Close()
	}
	return nil
}

// retire removes the session of the key and returns the function that closes it if it is idle. The caller holds the lock.
func (s *Sessions[C]) retire(key string) (closeIdle func() error) {
	found := s.open[key]
	if found == nil {
		return func() error { return nil }
	}
	delete(s.open, key)
	found.retired = true
	if found.users > 0 {
		return func() error { return nil }
	}
	return found.conn.Close
}

// Drop closes the connection of a key when the last user is done. The error is that of closing it immediately.
func (s *Sessions[C]) Drop(key string) error {
	s.mu.Lock()
	closeIdle := s.retire(key)
	s.mu.Unlock()
	return closeIdle()
}

// Close closes all connections; later uses fail.
func (s *Sessions[C]) Close() error {
	s.mu.Lock()
	s.closed = true
	var idle []func() error
	for key := range s.open {
		idle = append(idle, s.retire(key))
	}
	s.mu.Unlock()
	var errs []error
	for _, closeIdle := range idle {
		errs = append(errs, closeIdle())
	}
	return errors.Join(errs...)
}

// Start implements the Runnable of controller-runtime's manager: it closes all connections when the context ends.
func (s *Sessions[C]) Start(ctx context.Context) error {
	<-ctx.Done()
	return s.Close()
}
