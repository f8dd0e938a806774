import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.UUID;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.RecordApi;
import org.openapitools.client.model.*;

/** Uses the clients of both libraries, whose APIs are alike; `Clients` has what differs. */
public class Scenario {
  private static final Map<String, String> given = System.getenv();

  public static void main(String[] arguments) throws Exception {
    String automation = given.get("AUTOMATION");
    String execution = given.get("EXECUTION");
    UUID id = UUID.fromString(automation);
    EventsApi ingest = new EventsApi(Clients.clientOf(given.get("INGEST"), given.get("WRITE_TOKEN")));
    RecordApi record = new RecordApi(Clients.clientOf(given.get("CONSOLE"), given.get("READ_TOKEN")));

    EventRequest start =
        new EventRequest().automationId(automation).executionId(execution).event(EventRequest.EventEnum.START);
    RecordedEvent registered = ingest.registerEvent(start, given.get("KEY"));
    List<RecordedEvent> bulk =
        ingest.registerEvents(
            List.of(
                keyed(KeyedEvent.EventEnum.EVENT),
                keyed(KeyedEvent.EventEnum.ERROR).errorId("E-1"),
                keyed(KeyedEvent.EventEnum.END)),
            true);
    String fault = "";
    try {
      ingest.registerEvent(start.automationId("7"), null);
    } catch (ApiException error) {
      if (error.getCode() != 400) throw error;
      fault = Clients.problemOf(error.getResponseBody()).getErrors().get(0).getPointer();
    }

    Execution one = ended(record, id, execution);
    AutomationPage automations = record.listAutomations(null, null, null, null, null, 500, null);
    AutomationDetail detail = record.getAutomation(id, null);
    ExecutionPage executions =
        record.listExecutions(
            ExecutionState.FAILED, null, null, id, null, null, null, null, null, null, "1h", null, null, null);
    EventPage own = record.listEventsOfExecution(id, execution, null, null, null);
    EventPage events = record.listEvents(EventKind.ERROR, id, null, null, null, null, null, null, null, null, null, null);
    ErrorGroupPage errors = record.listErrors(id, null, null, null, null, null, null, null, null, null);
    AlertPage alerts = record.listAlerts(id, null, null, null, null, true, null, null);

    StringJoiner found = new StringJoiner(",", "{", "}");
    say(found, "registered", text(registered.getTypeOfEvent().getValue()));
    say(found, "bulk", texts(bulk.stream().map(item -> item.getTypeOfEvent().getValue()).toList()));
    say(found, "fault", text(fault));
    say(found, "state", text(one.getState().getValue()));
    EventCounts counts = one.getCounts();
    StringJoiner byKind = new StringJoiner(",", "{", "}");
    say(byKind, "START", counts.getSTART());
    say(byKind, "EVENT", counts.getEVENT());
    say(byKind, "WARNING", counts.getWARNING());
    say(byKind, "ERROR", counts.getERROR());
    say(byKind, "END", counts.getEND());
    say(found, "counts", byKind);
    for (AutomationSummary item : automations.getItems()) {
      if (!item.getAutomation().equals(automation)) continue;
      say(found, "automation", text(item.getLastExecution().getState().getValue()));
    }
    say(found, "figures", detail.getWindow().getCounts().getFailed());
    say(found, "executions", texts(executions.getItems().stream().map(Execution::getExecutionId).toList()));
    say(found, "own", texts(own.getItems().stream().map(item -> item.getTypeOfEvent().getValue()).toList()));
    say(found, "events", texts(events.getItems().stream().map(StoredEvent::getErrorId).toList()));
    say(found, "errors", texts(errors.getItems().stream().map(ErrorGroup::getErrorId).toList()));
    say(found, "alerts", texts(alerts.getItems().stream().map(Alert::getReason).toList()));
    say(found, "checkpoint", text(record.getLogCheckpoint().split("\n")[0]));
    say(found, "tile", record.getLogTile("0/000.p/1").length());
    say(found, "proof", text(record.getLogProof(UUID.fromString(given.get("PROVEN"))).split("\n")[0]));
    say(found, "ndjson", Files.readAllLines(exported(record, "ndjson").toPath()).size());
    say(found, "csv", Files.readAllLines(exported(record, "csv").toPath()).size());
    byte[] parquet = Files.readAllBytes(exported(record, "parquet").toPath());
    say(found, "parquet", text(new String(parquet, 0, 4)));
    System.out.println(found);
    System.exit(0);
  }

  private static KeyedEvent keyed(KeyedEvent.EventEnum event) {
    return new KeyedEvent().automationId(given.get("AUTOMATION")).executionId(given.get("EXECUTION")).event(event);
  }

  /** The execution, once it is in the record and has ended. */
  private static Execution ended(RecordApi record, UUID automation, String execution) throws Exception {
    long until = System.currentTimeMillis() + 30_000;
    while (System.currentTimeMillis() < until) {
      try {
        Execution one = record.getExecution(automation, execution);
        if (one.getEndedAt() != null) return one;
      } catch (ApiException error) {
        if (error.getCode() != 404) throw error;
      }
      Thread.sleep(100);
    }
    throw new IllegalStateException("the execution is not in the record");
  }

  private static File exported(RecordApi record, String format) throws ApiException {
    UUID id = UUID.fromString(given.get("AUTOMATION"));
    return record.exportEvents(format, null, null, null, id, null, null, null, null, null, null, null, null);
  }

  private static void say(StringJoiner found, String name, Object value) {
    found.add(text(name) + ":" + value);
  }

  private static String text(String value) {
    return '"' + value + '"';
  }

  private static String texts(List<String> values) {
    StringJoiner list = new StringJoiner(",", "[", "]");
    values.forEach(value -> list.add(text(value)));
    return list.toString();
  }
}
