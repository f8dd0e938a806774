package main

import "context"

// Maximum number of events in one request.
const mostAtOnce = 100

type waitingEvent struct {
	name  string
	event outgoing
}

// The result of sending a backlog.
type backlogResult struct {
	sent   int
	failed bool
}

// Sends the named events of the spool, many per request, until an attempt fails or isOver returns
// true. Events that such a request does not record are sent one by one.
func sendBacklog(ctx context.Context, spool *spool, delivery *delivery, names []string, isOver func() bool) backlogResult {
	var result backlogResult
	for begin := 0; begin < len(names) && !isOver(); begin += mostAtOnce {
		batch := readBatch(spool, names[begin:min(begin+mostAtOnce, len(names))])
		done := map[string]bool{}
		if len(batch) > 1 {
			done = delivery.sendMany(ctx, eventsOf(batch))
		}
		for _, one := range batch {
			if done[one.event.Key] {
				spool.remove(one.name)
				result.sent++
				continue
			}
			if isOver() {
				return result
			}
			attempt, reason := delivery.send(ctx, one.event)
			switch attempt {
			case recorded:
				spool.remove(one.name)
				result.sent++
			case refused:
				spool.setAside(one.name, reason)
			default:
				result.failed = true
				return result
			}
		}
	}
	return result
}

// Sets aside damaged events. Leaves out events that another process has removed meanwhile.
func readBatch(spool *spool, names []string) []waitingEvent {
	var batch []waitingEvent
	for _, name := range names {
		event, isWhole, isGone := spool.read(name)
		switch {
		case isWhole:
			batch = append(batch, waitingEvent{name, event})
		case !isGone:
			spool.setAside(name, "the file is damaged")
		}
	}
	return batch
}

func eventsOf(batch []waitingEvent) []outgoing {
	events := make([]outgoing, len(batch))
	for at, one := range batch {
		events[at] = one.event
	}
	return events
}
