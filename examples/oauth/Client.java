import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;
import java.util.Base64;
import java.util.regex.Pattern;

/** Reads a page of accounts. The token is kept until a minute before it expires. */
public class Client {
  static final String URL = System.getenv("BURSAR_URL");
  static final HttpClient http = HttpClient.newHttpClient();
  static String held;
  static Instant until = Instant.MIN;

  public static void main(String[] words) throws Exception {
    var page = send(HttpRequest.newBuilder(URI.create(URL + "/v2/transfer/fiat-accounts?limit=2"))
        .header("Authorization", "Bearer " + token()));
    // A real client parses the page with its JSON library.
    System.out.println(Pattern.compile("\"ref_id\":").matcher(page).results().count() + " accounts");
  }

  static synchronized String token() throws Exception {
    if (Instant.now().isBefore(until)) return held;
    var client = System.getenv("CLIENT_ID") + ":" + System.getenv("CLIENT_SECRET");
    var answer = send(HttpRequest.newBuilder(URI.create(URL + "/oauth2/token"))
        .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(client.getBytes()))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(BodyPublishers.ofString("grant_type=client_credentials")));
    held = member(answer, "\"access_token\":\"([^\"]+)\"");
    until = Instant.now().plusSeconds(Long.parseLong(member(answer, "\"expires_in\":(\\d+)")) - 60);
    return held;
  }

  static String send(HttpRequest.Builder request) throws Exception {
    var answer = http.send(request.build(), BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new Exception(answer.statusCode() + " " + answer.body());
    return answer.body();
  }

  static String member(String json, String pattern) {
    var found = Pattern.compile(pattern).matcher(json);
    if (!found.find()) throw new IllegalStateException(pattern + " is missing");
    return found.group(1);
  }
}
