// Cannot be built where Martlet is tested: only its syntax is checked there. See README.md.
import SwiftUI

@main
struct NotifyUsersApp: App {
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            ContentView(session: delegate.session)
        }
        .onChange(of: phase) {
            // Whatever waited for the network or for a launch is taken up at once.
            if phase == .active { Task { await delegate.session.resume() } }
        }
    }
}
