public import MartletCore
public import MartletHTTP
import MartletOpenAPI

/// The hub's REST API, compatible with the clients of Azure Notification Hubs: registrations, installations, sends,
/// telemetry, feedback, jobs and the management of hubs, authorized by shared access signatures.
///
/// The code of this module names no platform, because all differences between platforms are in their descriptors. The
/// module only translates between HTTP and the types of `MartletCore` for devices, notifications and hubs.
public struct HubAPI: Sendable {
    private let gate: Gate
    private let registrations: RegistrationRoutes
    private let installations: InstallationRoutes
    private let messages: MessageRoutes
    private let telemetry: TelemetryRoutes
    private let audience: AudienceRoutes
    private let traces: TraceRoutes
    private let deadLetters: DeadLetterRoutes
    private let funnels: FunnelRoutes
    private let control: ControlRoutes
    private let sending: SendingRoutes
    private let schedules: ScheduleRoutes
    private let feedback: FeedbackRoutes
    private let jobs: JobRoutes
    private let management: HubManagementRoutes
    private let description: HTTPResponse

    public init(
        hubs: HubDirectory, devices: DeviceRegistry, notifications: NotificationIntake, testSends: TestSends,
        dryRuns: DryRuns, controls: SendControls, traces: Traces, deadLetters: DeadLetters, funnels: Funnels,
        jobs: JobRunner, platforms: PushPlatformList, signer: URLSigner,
        address: PublicAddress,
        time: any TimeSource, callers: HubCallers = .signed
    ) {
        self.jobs = JobRoutes(jobs: jobs, signer: signer, time: time)
        gate = Gate(hubs: hubs, address: address, time: time, callers: callers)
        registrations = RegistrationRoutes(devices: devices, platforms: platforms)
        installations = InstallationRoutes(devices: devices)
        messages = MessageRoutes(
            notifications: notifications, testSends: testSends, dryRuns: dryRuns, platforms: platforms)
        audience = AudienceRoutes(devices: devices, platforms: platforms)
        let feedbackAddress = FeedbackAddress(signer: signer, time: time)
        telemetry = TelemetryRoutes(
            notifications: notifications, platforms: platforms, feedback: feedbackAddress)
        self.traces = TraceRoutes(traces: traces)
        self.deadLetters = DeadLetterRoutes(letters: deadLetters)
        self.funnels = FunnelRoutes(funnels: funnels)
        control = ControlRoutes(controls: controls)
        sending = SendingRoutes(hubs: hubs)
        schedules = ScheduleRoutes(notifications: notifications, platforms: platforms)
        feedback = FeedbackRoutes(notifications: notifications, hubs: hubs, address: feedbackAddress)
        management = HubManagementRoutes(hubs: hubs, platforms: platforms, time: time)
        description = HubDescription(platforms: platforms).description.makeResponse()
    }

    /// Adds the routes. Their patterns begin with a parameter for the hub, so other routes of the router must be added
    /// first.
    public func addRoutes(to router: inout Router) {
        let (time, description) = (gate.time, description)
        router.on(.get, HubDescription.path) { request, _ in
            await request.answered(at: time) { () throws(HubAPIError) in description }
        }
        var routes = HubRoutes(router: router, gate: gate)
        registrations.add(to: &routes)
        installations.add(to: &routes)
        messages.add(to: &routes)
        audience.add(to: &routes)
        telemetry.add(to: &routes)
        traces.add(to: &routes)
        deadLetters.add(to: &routes)
        funnels.add(to: &routes)
        control.add(to: &routes)
        sending.add(to: &routes)
        schedules.add(to: &routes)
        feedback.add(to: &routes)
        jobs.add(to: &routes)
        management.add(to: &routes)
        router = routes.router
    }

    /// Returns a closure that answers a request without a matching route in the format of the API's errors. It is for
    /// the initializer of `Router`.
    public static func refusal(time: any TimeSource) -> @Sendable (HTTPRequest, Router.Refusal) -> HTTPResponse {
        { request, refusal in
            let error: HubAPIError =
                switch refusal {
                case .badTarget: .badTarget
                case .notFound: .noSuchPath
                case .methodNotAllowed(let allowed): .methodNotAllowed(allowed)
                }
            return TrackingID(of: request).refusal(error, to: request, at: time)
        }
    }
}
