/// The app and the device that a request to a simulated service concerns, as far as the request states them.
public struct SimulatedSubject: Hashable, Sendable {
    /// The purpose of a request.
    public enum Endpoint: String, Hashable, Sendable, CaseIterable {
        /// The request sends a message.
        case send
        /// The request gets an access token.
        case token
        /// The request has any other purpose, such as managing channels or subscriptions.
        case manage
    }

    public var endpoint: Endpoint
    /// The app's identifier, in the form of the platform, such as a bundle id for APNs and a project id for FCM.
    public var app: String?
    /// The device's handle, as returned by `addDevice` or made up by a test.
    public var handle: String?
    /// The fault that the end of the handle requests; nil for none.
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
