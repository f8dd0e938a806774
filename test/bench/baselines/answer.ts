/** An event as a caller sends it. */
export interface EventBody {
  automation_id: string;
  execution_id: string;
  event: string;
  description?: string;
  error_id?: string;
  error_description?: string;
}

/** The answer to it, the same on every side. */
export function recorded(event: EventBody, createdAt: Date) {
  return {
    automation: event.automation_id,
    execution_id: event.execution_id,
    type_of_event: event.event,
    description: event.description ?? '',
    error_id: event.error_id ?? '',
    error_description_detail: event.error_description ?? '',
    created_at: createdAt.toISOString(),
  };
}
