"""An HTTP server for ASGI applications on asyncio and h11, with the limits that a service needs against its clients."""
