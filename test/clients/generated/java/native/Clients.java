import org.openapitools.client.ApiClient;
import org.openapitools.client.model.ProblemWithErrors;

class Clients {
  static ApiClient clientOf(String url, String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    return client.setRequestInterceptor(request -> request.header("token", token));
  }

  static ProblemWithErrors problemOf(String body) throws Exception {
    return ApiClient.createDefaultObjectMapper().readValue(body, ProblemWithErrors.class);
  }
}
