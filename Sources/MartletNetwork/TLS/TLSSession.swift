/// TLS on one connection.
final class TLSSession {
    enum Handshake {
        case done
        case wants(Readiness)
        case failed(NetworkError)
    }

    var selectedProtocol: String? { nil }
    var peerCertificate: [UInt8]? { nil }
    var isWriteBlockedOnRead: Bool { false }
    var hasPending: Bool { false }
    func shakeHands(_ descriptor: Int32) -> Handshake { .done }
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer { .ended }
    func write(_ bytes: UnsafeRawBufferPointer) -> Socket.Transfer { .ended }
    func shutDown() {}
}
