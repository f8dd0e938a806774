package main

import (
	"context"
	"io"
	"net/http"
	"os"

	"clients/oapi"
	. "clients/scenario"

	"github.com/google/uuid"
)

func clientOf(url, token string) *oapi.ClientWithResponses {
	return Must(oapi.NewClientWithResponses(url, oapi.WithRequestEditorFn(
		func(ctx context.Context, request *http.Request) error {
			request.Header.Set("token", token)
			return nil
		})))
}

func pointer[T any](value T) *T {
	return &value
}

func main() {
	ctx := context.Background()
	automation, execution := os.Getenv("AUTOMATION"), os.Getenv("EXECUTION")
	id := uuid.MustParse(automation)
	ingest := clientOf(os.Getenv("INGEST"), os.Getenv("WRITE_TOKEN"))
	record := clientOf(os.Getenv("CONSOLE"), os.Getenv("READ_TOKEN"))

	start := oapi.EventRequest{AutomationId: automation, ExecutionId: execution, Event: oapi.EventRequestEventSTART}
	key := &oapi.RegisterEventParams{IdempotencyKey: pointer(os.Getenv("KEY"))}
	registered := Must(ingest.RegisterEventWithResponse(ctx, key, start))
	keyed := func(event oapi.KeyedEventEvent, errorId *string) oapi.KeyedEvent {
		return oapi.KeyedEvent{AutomationId: automation, ExecutionId: execution, Event: event, ErrorId: errorId}
	}
	bulk := Must(ingest.RegisterEventsWithResponse(ctx, &oapi.RegisterEventsParams{Partial: pointer(true)}, []oapi.KeyedEvent{
		keyed(oapi.KeyedEventEventEVENT, nil),
		keyed(oapi.KeyedEventEventERROR, pointer("E-1")),
		keyed(oapi.KeyedEventEventEND, nil),
	}))
	start.AutomationId = "7"
	wrong := Must(ingest.RegisterEventWithResponse(ctx, nil, start))

	one := UntilThere(func() *oapi.Execution {
		answer := Must(record.GetExecutionWithResponse(ctx, id, execution))
		if answer.JSON200 == nil && answer.ApplicationproblemJSON404 == nil {
			Unexpected(answer)
		}
		if answer.JSON200 == nil || answer.JSON200.EndedAt == nil {
			return nil
		}
		return answer.JSON200
	})
	automations := Must(record.ListAutomationsWithResponse(ctx, &oapi.ListAutomationsParams{Limit: pointer(500)})).JSON200
	detail := Must(record.GetAutomationWithResponse(ctx, id, nil)).JSON200
	failed := &oapi.ListExecutionsParams{AutomationId: &id, State: pointer(oapi.ExecutionStateFailed)}
	executions := Must(record.ListExecutionsWithResponse(ctx, failed)).JSON200
	own := Must(record.ListEventsOfExecutionWithResponse(ctx, id, execution, nil)).JSON200
	ofKind := &oapi.ListEventsParams{AutomationId: &id, Kind: pointer(oapi.EventKindERROR)}
	events := Must(record.ListEventsWithResponse(ctx, ofKind)).JSON200
	failures := Must(record.ListErrorsWithResponse(ctx, &oapi.ListErrorsParams{AutomationId: &id})).JSON200
	open := &oapi.ListAlertsParams{AutomationId: &id, Open: pointer(true)}
	alerts := Must(record.ListAlertsWithResponse(ctx, open)).JSON200
	exported := func(format oapi.ExportEventsParamsFormat) []byte {
		params := &oapi.ExportEventsParams{AutomationId: &id, Format: &format}
		return Must(record.ExportEventsWithResponse(ctx, params)).Body
	}
	stream := Must(record.FollowRecord(ctx, nil))
	firstBytes := make([]byte, 6)
	Must(io.ReadFull(stream.Body, firstBytes))

	found := Found{
		"registered": registered.JSON201.TypeOfEvent,
		"bulk":       Each(*bulk.JSON201, func(item oapi.RecordedEvent) oapi.EventKind { return item.TypeOfEvent }),
		"fault":      (*wrong.ApplicationproblemJSON400.Errors)[0].Pointer,
		"state":      one.State,
		"counts":     one.Counts,
		"figures":    detail.Window.Counts.Failed,
		"executions": Each(executions.Items, func(item oapi.Execution) string { return item.ExecutionId }),
		"own":        Each(own.Items, func(item oapi.StoredEvent) oapi.EventKind { return item.TypeOfEvent }),
		"events":     Each(events.Items, func(item oapi.StoredEvent) string { return item.ErrorId }),
		"errors":     Each(failures.Items, func(item oapi.ErrorGroup) string { return item.ErrorId }),
		"alerts":     alerts.Items,
		"checkpoint": FirstLine(string(Must(record.GetLogCheckpointWithResponse(ctx)).Body)),
		"tile":       len(Must(record.GetLogTileWithResponse(ctx, "0/000.p/1")).Body),
		"proof":      FirstLine(string(Must(record.GetLogProofWithResponse(ctx, uuid.MustParse(os.Getenv("PROVEN")))).Body)),
		"ndjson":     Lines(exported("ndjson")),
		"csv":        Lines(exported("csv")),
		"parquet":    string(exported("parquet")[:4]),
		"stream":     string(firstBytes) == "retry:",
	}
	for _, item := range automations.Items {
		if item.Automation == automation {
			found["automation"] = item.LastExecution.State
		}
	}
	found.Report()
}
