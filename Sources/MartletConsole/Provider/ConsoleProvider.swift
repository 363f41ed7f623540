import MartletCore
public import MartletOpenIDConnect
import Synchronization

/// The identity provider with which operators sign in, if there is one. It can be replaced while the server runs.
public final class ConsoleProvider: Sendable {
    public struct Settings: Sendable {
        /// The name on the button of the sign-in page.
        public var name: String
        public var provider: IdentityProvider
        public var client: ProviderClient
        /// The scopes that are requested from the provider, separated by spaces (RFC 6749, section 3.3).
        public var scopes: String
        public var roles: ProviderRoles

        public init(
            name: String, provider: IdentityProvider, client: ProviderClient, scopes: String, roles: ProviderRoles
        ) {
            self.name = name
            self.provider = provider
            self.client = client
            self.scopes = scopes
            self.roles = roles
        }
    }

    private let current: Mutex<Settings?>

    public init(_ settings: Settings?) {
        current = Mutex(settings)
    }

    public var settings: Settings? { current.withLock(\.self) }

    /// Replaces the provider; nil means that operators sign in only with passwords.
    public func use(_ settings: Settings?) {
        current.withLock { $0 = settings }
    }

    /// Asks the provider for its configuration, so that a provider that does not answer is logged before somebody wants
    /// to sign in.
    public func probe() async {
        do throws(IdentityProviderError) {
            _ = try await settings?.provider.configuration()
        } catch {
            // The provider has logged the reason.
        }
    }
}
