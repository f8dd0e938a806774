import org.openapitools.client.ApiClient;
import org.openapitools.client.JSON;
import org.openapitools.client.model.ProblemWithErrors;

class Clients {
  static ApiClient clientOf(String url, String token) {
    ApiClient client = new ApiClient().setBasePath(url);
    client.setApiKey(token);
    return client;
  }

  static ProblemWithErrors problemOf(String body) {
    return JSON.deserialize(body, ProblemWithErrors.class);
  }
}
