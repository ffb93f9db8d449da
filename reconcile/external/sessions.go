package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Sessions keeps connections by a key, such as a namespace, and the fingerprint of the settings that they were opened with. A connection is
// opened on its first use, replaced when the fingerprint changes, and closed when nobody uses it any more. The zero value is empty; it is
// safe for concurrent use.
//
// As a runnable of a manager it closes all connections when the manager stops or loses its leadership.
type Sessions[C io.Closer] struct {
	mu     sync.Mutex
	open   map[string]*session[C]
	closed bool
}

type session[C io.Closer] struct {
	fingerprint string
	ready       chan struct{} // closed when it is open, or could not be opened
	conn        C
	err         error
	users       int
	retired     bool // to be closed by its last user
}

var errSessionsClosed = errors.New("the sessions are closed")

// Use returns the connection of the key. If there is none with the fingerprint it is opened, once for all who wait for it; one of
// another fingerprint is closed when its last user is done. Done must be called once. A connection that could not be opened is not kept.
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
		_ = idle() // the settings are replaced: what the old ones have to say no longer counts
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

// forget drops a session that could not be opened.
func (s *Sessions[C]) forget(key string, failed *session[C]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] == failed {
		delete(s.open, key)
	}
}

// leave is the end of one use.
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

// retire takes the session of the key out of use and returns what closes it if nobody uses it. The caller has the lock.
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

// Drop closes the connection of a key that is needed no more, when its last user is done. The error is that of closing it now.
func (s *Sessions[C]) Drop(key string) error {
	s.mu.Lock()
	closeIdle := s.retire(key)
	s.mu.Unlock()
	return closeIdle()
}

// Close drops all connections; later uses are refused.
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
