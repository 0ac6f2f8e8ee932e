"""What a service is made of, tried: models, tokens, certificate, outcomes and the port; nothing is served."""

from collections.abc import Iterator

from poolpilot.models.advisor.model import Model
from poolpilot.serve.commands.config.account_trial import AccountTrial
from poolpilot.serve.commands.config.part_trials import outcomes_trial
from poolpilot.serve.service.service_settings import ServeSettings


def service_trials(settings: ServeSettings) -> Iterator[AccountTrial]:
    """Makes, and lets go of, each part without which `poolpilot serve` would end at its start.

    Port and outcomes may be those of the service that runs while its settings are changed: a port in use refuses
    nothing, and then neither does a folder that somebody keeps outcomes in.
    """
    from poolpilot.serve.service.access.bearer_tokens import BearerTokens  # nobody else pays for a web server
    from poolpilot.serve.service.http_server import listening_socket
    from poolpilot.serve.service.renewed_tls import tls_of

    model = f"{settings.model or 'what ships'} loads"
    yield AccountTrial.of("model", model, lambda: Model.load(settings.model))
    if settings.token_file is not None:
        yield AccountTrial.of("tokens", f"{settings.token_file} is read", lambda: BearerTokens(settings.token_file))
    if settings.tls_certificate is not None:
        found = f"{settings.tls_certificate} and its key are read"
        yield AccountTrial.of("certificate", found, lambda: tls_of(settings))
    free = (
        f"port {settings.port} on {settings.host} is free" if settings.port else f"any on {settings.host} that is free"
    )
    port = AccountTrial.of("port", free, lambda: listening_socket(settings.host, settings.port).close(), needed=False)
    if settings.outcomes is not None:
        yield outcomes_trial(settings.outcomes, needed=port.good)
    yield port
