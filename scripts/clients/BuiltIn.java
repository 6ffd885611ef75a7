import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Asks https://api.themoviedb.org for a film. The only setting is the trust store, as for tinyMediaManager. */
class BuiltIn {
  public static void main(String[] args) throws Exception {
    URI uri = URI.create("https://api.themoviedb.org/3/movie/603?api_key=" + System.getenv("REELSPLICE_TOKEN"));
    HttpRequest request = HttpRequest.newBuilder(uri).build();
    HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200 || !response.body().contains("\"tt0133093\"")) {
      System.err.println(response.statusCode() + " " + response.body());
      System.exit(1);
    }
    System.out.println("status " + response.statusCode());
  }
}
