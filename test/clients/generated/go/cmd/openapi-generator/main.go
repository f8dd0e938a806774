package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"clients/openapi"
	. "clients/scenario"
)

func clientOf(url, token string) *openapi.APIClient {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: url}}
	configuration.AddDefaultHeader("token", token)
	return openapi.NewAPIClient(configuration)
}

func read(file *os.File, answer *http.Response, err error) []byte {
	Must(answer, err)
	defer os.Remove(file.Name())
	Must(file.Seek(0, io.SeekStart))
	return Must(io.ReadAll(file))
}

func must[T any](value T, answer *http.Response, err error) T {
	return Must(value, err)
}

func main() {
	ctx := context.Background()
	automation, execution := os.Getenv("AUTOMATION"), os.Getenv("EXECUTION")
	ingest := clientOf(os.Getenv("INGEST"), os.Getenv("WRITE_TOKEN")).EventsAPI
	record := clientOf(os.Getenv("CONSOLE"), os.Getenv("READ_TOKEN")).RecordAPI

	start := openapi.NewEventRequest(automation, execution, "START")
	registered := must(ingest.RegisterEvent(ctx).EventRequest(*start).IdempotencyKey(os.Getenv("KEY")).Execute())
	failure := openapi.NewKeyedEvent(automation, execution, "ERROR")
	failure.SetErrorId("E-1")
	more := []openapi.KeyedEvent{
		*openapi.NewKeyedEvent(automation, execution, "EVENT"),
		*failure,
		*openapi.NewKeyedEvent(automation, execution, "END"),
	}
	bulk := must(ingest.RegisterEvents(ctx).KeyedEvent(more).Partial(true).Execute())
	wrong := openapi.NewEventRequest("7", execution, "START")
	_, answer, err := ingest.RegisterEvent(ctx).EventRequest(*wrong).Execute()
	fault := ""
	var refused *openapi.GenericOpenAPIError
	if errors.As(err, &refused) && answer.StatusCode == 400 {
		fault = refused.Model().(openapi.ProblemWithErrors).Errors[0].GetPointer()
	}

	one := UntilThere(func() *openapi.Execution {
		one, answer, err := record.GetExecution(ctx, automation, execution).Execute()
		if answer != nil && answer.StatusCode == 404 {
			return nil
		}
		if Must(one, err).EndedAt.Get() == nil {
			return nil
		}
		return one
	})
	automations := must(record.ListAutomations(ctx).Limit(500).Execute())
	detail := must(record.GetAutomation(ctx, automation).Execute())
	executions := must(record.ListExecutions(ctx).AutomationId(automation).State(openapi.FAILED).Execute())
	own := must(record.ListEventsOfExecution(ctx, automation, execution).Execute())
	events := must(record.ListEvents(ctx).AutomationId(automation).Kind(openapi.ERROR).Execute())
	failures := must(record.ListErrors(ctx).AutomationId(automation).Execute())
	alerts := must(record.ListAlerts(ctx).AutomationId(automation).Open(true).Execute())
	exported := func(format string) []byte {
		return read(record.ExportEvents(ctx).AutomationId(automation).Format(format).Execute())
	}

	found := Found{
		"registered": registered.TypeOfEvent,
		"bulk":       Each(bulk, func(item openapi.RecordedEvent) openapi.EventKind { return item.TypeOfEvent }),
		"fault":      fault,
		"state":      one.State,
		"counts":     one.Counts,
		"figures":    detail.Window.Counts.Failed,
		"executions": Each(executions.Items, func(item openapi.Execution) string { return item.ExecutionId }),
		"own":        Each(own.Items, func(item openapi.StoredEvent) openapi.EventKind { return item.TypeOfEvent }),
		"events":     Each(events.Items, func(item openapi.StoredEvent) string { return item.ErrorId }),
		"errors":     Each(failures.Items, func(item openapi.ErrorGroup) string { return item.ErrorId }),
		"alerts":     alerts.Items,
		"checkpoint": FirstLine(must(record.GetLogCheckpoint(ctx).Execute())),
		"tile":       len(read(record.GetLogTile(ctx, "0/000.p/1").Execute())),
		"proof":      FirstLine(must(record.GetLogProof(ctx, os.Getenv("PROVEN")).Execute())),
		"ndjson":     Lines(exported("ndjson")),
		"csv":        Lines(exported("csv")),
		"parquet":    string(exported("parquet")[:4]),
	}
	for _, item := range automations.Items {
		if item.Automation == automation {
			found["automation"] = item.LastExecution.Get().State
		}
	}
	found.Report()
}
