import MartletClient
import MartletURLSession

func makeClient() throws(PushClientError) -> PushClient {
    PushClient(server: try ServerAddress("https://push.example.org"), transport: URLSessionTransport())
}
