/// The subject of a request to a simulated service, as far as the request states it.
public struct SimulatedSubject: Hashable, Sendable {
    /// The purpose of a request.
    public enum Endpoint: String, Hashable, Sendable, CaseIterable {
        /// Sending a message.
        case send
        /// Getting an access token.
        case token
        /// Anything else: channels, subscriptions.
        case manage
    }

    public var endpoint: Endpoint
    /// The app's identifier, as its owner writes it.
    public var app: String?
    /// The device's handle, as returned by `addDevice` or made up by a test.
    public var handle: String?
    /// The fault that the handle requests.
    public var marker: HandleMarker?

    public init(
        _ endpoint: Endpoint = .send, app: String? = nil, handle: String? = nil, marker: HandleMarker? = nil
    ) {
        self.endpoint = endpoint
        self.app = app
        self.handle = handle
        self.marker = marker
    }
}
