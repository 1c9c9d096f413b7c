"""A server with tools of MCP, made with the official SDK or with FastMCP: `mcp_server.py PORT mcp|fastmcp`."""

import base64
import sys

from pydantic import BaseModel

port, library = int(sys.argv[1]), sys.argv[2]
if library == "fastmcp":
    from fastmcp import Context, FastMCP
    from fastmcp.exceptions import ToolError
    from fastmcp.utilities.types import Image
    from fastmcp_tasks import TasksExtension

    server = FastMCP("sample")
    server.add_extension(TasksExtension())
else:
    from mcp.server.mcpserver import Context, Image, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("sample")

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


class Weather(BaseModel):
    city: str
    degrees: float


@server.tool()
def echo(text: str) -> str:
    """Gives back the text."""
    return text


@server.tool()
def weather(city: str) -> Weather:
    """Tells the weather."""
    return Weather(city=city, degrees=21.5)


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and tells how far it is."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"step {number}")
    return "counted"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("it does not work")


@server.tool()
def pixel() -> Image:
    """Gives an image."""
    return Image(data=PIXEL, format="png")


if library == "fastmcp":

    @server.tool(task=True)
    async def later() -> str:
        """Works as a task."""
        return "done later"

    server.run("http", host="127.0.0.1", port=port, show_banner=False)
else:
    server.run("streamable-http", host="127.0.0.1", port=port)
