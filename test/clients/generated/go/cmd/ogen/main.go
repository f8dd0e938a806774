package main

import (
	"context"
	"io"
	"os"

	"clients/ogen"
	. "clients/scenario"

	"github.com/google/uuid"
	"github.com/ogen-go/ogen/ogenerrors"
)

// source has the header `token` only.
type source struct{ token string }

func (source source) Token(context.Context, ogen.OperationName) (ogen.Token, error) {
	return ogen.Token{APIKey: source.token}, nil
}

func (source) Bearer(context.Context, ogen.OperationName) (ogen.Bearer, error) {
	return ogen.Bearer{}, ogenerrors.ErrSkipClientSecurity
}

// as gives an answer of success.
func as[T any](answer any, err error) T {
	value, ok := Must(answer, err).(T)
	if !ok {
		Unexpected(answer)
	}
	return value
}

func main() {
	ctx := context.Background()
	automation, execution := os.Getenv("AUTOMATION"), os.Getenv("EXECUTION")
	id := uuid.MustParse(automation)
	byId := ogen.NewOptUUID(id)
	ingest := Must(ogen.NewClient(os.Getenv("INGEST"), source{os.Getenv("WRITE_TOKEN")}))
	record := Must(ogen.NewClient(os.Getenv("CONSOLE"), source{os.Getenv("READ_TOKEN")}))

	start := &ogen.EventRequest{AutomationID: automation, ExecutionID: execution, Event: ogen.EventRequestEventSTART}
	key := ogen.RegisterEventParams{IdempotencyKey: ogen.NewOptString(os.Getenv("KEY"))}
	registered := as[*ogen.RecordedEventHeaders](ingest.RegisterEvent(ctx, start, key))
	keyed := func(event ogen.KeyedEventEvent, errorId ogen.OptNilString) ogen.KeyedEvent {
		return ogen.KeyedEvent{AutomationID: automation, ExecutionID: execution, Event: event, ErrorID: errorId}
	}
	none := ogen.OptNilString{}
	bulk := as[*ogen.RegisterEventsCreatedHeaders](ingest.RegisterEvents(ctx, &ogen.RegisterEventsReqApplicationJSON{
		keyed(ogen.KeyedEventEventEVENT, none),
		keyed(ogen.KeyedEventEventERROR, ogen.NewOptNilString("E-1")),
		keyed(ogen.KeyedEventEventEND, none),
	}, ogen.RegisterEventsParams{Partial: ogen.NewOptBool(true)}))
	start.AutomationID = "7"
	wrong := as[*ogen.ProblemWithErrors](ingest.RegisterEvent(ctx, start, ogen.RegisterEventParams{}))

	one := UntilThere(func() *ogen.Execution {
		answer := Must(record.GetExecution(ctx, ogen.GetExecutionParams{AutomationID: id, ExecutionID: execution}))
		if _, missing := answer.(*ogen.GetExecutionNotFound); missing {
			return nil
		}
		one := as[*ogen.ExecutionHeaders](answer, nil).Response
		if one.EndedAt.Null {
			return nil
		}
		return &one
	})
	automations := as[*ogen.AutomationPageHeaders](
		record.ListAutomations(ctx, ogen.ListAutomationsParams{Limit: ogen.NewOptInt(500)})).Response
	detail := as[*ogen.AutomationDetailHeaders](
		record.GetAutomation(ctx, ogen.GetAutomationParams{AutomationID: id})).Response
	executions := as[*ogen.ExecutionPageHeaders](record.ListExecutions(ctx, ogen.ListExecutionsParams{
		AutomationID: byId, State: ogen.NewOptExecutionState(ogen.ExecutionStateFailed),
	})).Response
	own := as[*ogen.EventPageHeaders](record.ListEventsOfExecution(ctx,
		ogen.ListEventsOfExecutionParams{AutomationID: id, ExecutionID: execution})).Response
	events := as[*ogen.EventPageHeaders](record.ListEvents(ctx,
		ogen.ListEventsParams{AutomationID: byId, Kind: ogen.NewOptEventKind(ogen.EventKindERROR)})).Response
	failures := as[*ogen.ErrorGroupPageHeaders](record.ListErrors(ctx, ogen.ListErrorsParams{AutomationID: byId})).Response
	alerts := as[*ogen.AlertPageHeaders](
		record.ListAlerts(ctx, ogen.ListAlertsParams{AutomationID: byId, Open: ogen.NewOptBool(true)})).Response
	checkpoint := as[*ogen.GetLogCheckpointOKHeaders](record.GetLogCheckpoint(ctx)).Response
	tile := as[*ogen.GetLogTileOKHeaders](record.GetLogTile(ctx, ogen.GetLogTileParams{Tile: "0/000.p/1"})).Response
	proof := as[*ogen.GetLogProofOKHeaders](
		record.GetLogProof(ctx, ogen.GetLogProofParams{EventID: uuid.MustParse(os.Getenv("PROVEN"))})).Response
	exported := func(format ogen.Format) []byte {
		params := ogen.ExportEventsParams{AutomationID: byId, Format: ogen.NewOptFormat(format)}
		return Must(io.ReadAll(as[io.Reader](record.ExportEvents(ctx, params))))
	}
	stream := as[*ogen.FollowRecordOK](record.FollowRecord(ctx, ogen.FollowRecordParams{}))
	firstBytes := make([]byte, 6)
	Must(io.ReadFull(stream, firstBytes))

	found := Found{
		"registered": registered.Response.TypeOfEvent,
		"bulk":       Each(bulk.Response, func(item ogen.RecordedEvent) ogen.EventKind { return item.TypeOfEvent }),
		"fault":      wrong.Errors[0].Pointer.Value,
		"state":      one.State,
		"counts":     one.Counts,
		"figures":    detail.Window.Counts.Failed,
		"executions": Each(executions.Items, func(item ogen.Execution) string { return item.ExecutionID }),
		"own":        Each(own.Items, func(item ogen.StoredEvent) ogen.EventKind { return item.TypeOfEvent }),
		"events":     Each(events.Items, func(item ogen.StoredEvent) string { return item.ErrorID }),
		"errors":     Each(failures.Items, func(item ogen.ErrorGroup) string { return item.ErrorID }),
		"alerts":     alerts.Items,
		"checkpoint": FirstLine(string(Must(io.ReadAll(checkpoint)))),
		"tile":       len(Must(io.ReadAll(tile))),
		"proof":      FirstLine(string(Must(io.ReadAll(proof)))),
		"ndjson":     Lines(exported(ogen.FormatNdjson)),
		"csv":        Lines(exported(ogen.FormatCsv)),
		"parquet":    string(exported(ogen.FormatParquet)[:4]),
		"stream":     string(firstBytes) == "retry:",
	}
	for _, item := range automations.Items {
		if string(item.Automation) == automation {
			found["automation"] = item.LastExecution.Value.State
		}
	}
	found.Report()
}
