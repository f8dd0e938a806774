package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// An event of this process, and its state.
type ownEvent struct {
	event    outgoing
	wasTried bool   // by the spool
	name     string // in the spool; empty if the spool did not take it
	state    attempt
	reason   string // why it was refused
}

// Writes events to the spool and delivers them, each in order and both in the background, so that
// neither waits if the disk or the server hangs. An event stays in the spool until Runledger has
// confirmed it. Afterwards it sends what earlier runs and the command itself have left there.
type outbox struct {
	spool     *spool
	delivery  *delivery
	unspooled func(error)
	ctx       context.Context
	cancel    context.CancelFunc
	wake      chan struct{}
	done      chan struct{}
	spooled   chan struct{} // closed once the spool has been tried for each event

	mutex   sync.Mutex
	own     []*ownEvent
	toSpool chan *ownEvent
	ending  bool
}

// Pauses between attempts while the command runs. An idle outbox polls the spool for events of the
// command.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 10 * time.Second
	lookAgain    = 2 * time.Second
)

func newOutbox(spool *spool, delivery *delivery, unspooled func(error)) *outbox {
	ctx, cancel := context.WithCancel(context.Background())
	o := &outbox{
		spool: spool, delivery: delivery, unspooled: unspooled, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), done: make(chan struct{}), spooled: make(chan struct{}),
		toSpool: make(chan *ownEvent, mostOfOneRun),
	}
	go o.writeToSpool()
	go o.deliver()
	return o
}

// The number of events that a run itself adds.
const mostOfOneRun = 3

// How long a hanging disk may delay the end.
const longestWrite = 2 * time.Second

// Takes over an event, until settle is called. Returns immediately.
func (o *outbox) add(event outgoing) {
	one := &ownEvent{event: event}
	o.mutex.Lock()
	o.own = append(o.own, one)
	o.mutex.Unlock()
	o.toSpool <- one
	o.stir()
}

func (o *outbox) writeToSpool() {
	defer close(o.spooled)
	for one := range o.toSpool {
		name, err := o.spool.add(one.event)
		if err != nil {
			o.unspooled(err)
		}
		o.mutex.Lock()
		one.name, one.wasTried = name, true
		o.mutex.Unlock()
		o.clear(one)
		o.stir()
	}
}

// Removes an event from the spool once it is both stored there and finally answered.
func (o *outbox) clear(one *ownEvent) {
	o.mutex.Lock()
	name, state, reason := one.name, one.state, one.reason
	o.mutex.Unlock()
	switch {
	case name == "":
	case state == recorded:
		o.spool.remove(name)
	case state == refused:
		o.spool.setAside(name, reason)
	}
}

func (o *outbox) stir() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Returns once everything is delivered, or once everything is in the spool and an attempt has
// failed, or after the given time. The spool gets the events even if that takes longer.
func (o *outbox) settle(within time.Duration) {
	deadline := time.After(within)
	o.mutex.Lock()
	o.ending = true
	o.mutex.Unlock()
	close(o.toSpool)
	o.stir()
	select {
	case <-o.spooled:
	case <-time.After(longestWrite):
		o.unspooled(&spoolUnavailable{fmt.Sprintf("its disk did not answer within %v", longestWrite)})
	}
	select {
	case <-o.done:
	case <-deadline:
	}
	o.cancel()
}

func (o *outbox) stateOfFirst() attempt {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.own) == 0 {
		return failed
	}
	if one := o.own[0]; one.state != failed || one.name == "" {
		return one.state
	}
	return spooled
}

func (o *outbox) deliver() {
	defer close(o.done)
	pause := firstPause
	for o.ctx.Err() == nil {
		worked := o.deliverOwn() && o.deliverLeftovers()
		if o.isOver(worked) {
			return
		}
		wait := pause
		if worked {
			wait, pause = lookAgain, firstPause
		} else if pause *= 2; pause > longestPause {
			pause = longestPause
		}
		o.sleep(wait)
	}
}

// True if nothing is left to do before this process ends.
func (o *outbox) isOver(worked bool) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if !o.ending {
		return false
	}
	for _, one := range o.own {
		if !one.wasTried || one.state == failed && (worked || one.name == "") {
			return false
		}
	}
	return true
}

// Returns false as soon as an attempt fails.
func (o *outbox) deliverOwn() bool {
	for one := o.next(); one != nil && o.ctx.Err() == nil; one = o.next() {
		attempt, reason := o.delivery.send(o.ctx, one.event)
		if attempt == failed {
			return false
		}
		o.mutex.Lock()
		one.state, one.reason = attempt, reason
		o.mutex.Unlock()
		o.clear(one)
	}
	return true
}

func (o *outbox) next() *ownEvent {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.unsent()
}

func (o *outbox) unsent() *ownEvent {
	for _, one := range o.own {
		if one.state == failed {
			return one
		}
	}
	return nil
}

// Sends what others left, until an event of this process waits. Returns false if an attempt fails.
func (o *outbox) deliverLeftovers() bool {
	mine := map[string]bool{}
	o.mutex.Lock()
	for _, one := range o.own {
		mine[one.name] = true
	}
	o.mutex.Unlock()
	var names []string
	for _, name := range o.spool.waiting() {
		if !mine[name] {
			names = append(names, name)
		}
	}
	isOver := func() bool {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		return o.ctx.Err() != nil || o.unsent() != nil
	}
	result := sendBacklog(o.ctx, o.spool, o.delivery, names, isOver)
	return !result.failed
}

func (o *outbox) sleep(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-o.wake:
	case <-timer.C:
	case <-o.ctx.Done():
	}
}
