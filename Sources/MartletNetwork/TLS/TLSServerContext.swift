/// What a TLS listener presents.
public final class TLSServerContext: Sendable {
    func makeSession() throws(NetworkError) -> TLSSession { TLSSession() }
}
