/** For a checkout that pnpm installs. Packages run no scripts there, as with npm: pnpm 11 would fail instead of leaving them out. */
module.exports = {
  hooks: {
    /** @param {object} config */
    updateConfig: (config) => ({ ...config, strictDepBuilds: false }),
  },
};
