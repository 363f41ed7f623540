/// What a request to a simulated service is about, as far as it says so.
public struct SimulatedSubject: Hashable, Sendable {
    /// What a request is for.
    public enum Endpoint: String, Hashable, Sendable, CaseIterable {
        /// Sending a message.
        case send
        /// Getting an access token.
        case token
        /// Anything else: channels, subscriptions.
        case manage
    }

    public var endpoint: Endpoint
    /// The app, as its owner calls it.
    public var app: String?
    /// The device's handle, as `addDevice` returned it, or as a test made it up.
    public var handle: String?
    /// The fault that the handle asks for.
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
